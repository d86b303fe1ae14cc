"""API spend: what calls to model APIs cost, beside what their vendors say."""
