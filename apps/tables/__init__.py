"""Lists as declared tables: one declaration is the table of a page, its CSV file and its REST answer."""
