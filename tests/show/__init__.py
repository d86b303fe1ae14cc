"""How numbers look, stated one by one."""
