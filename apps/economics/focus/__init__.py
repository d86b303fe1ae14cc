"""A provider's bill in the words of FOCUS: columns of every version, cells, and kinds of cost."""
