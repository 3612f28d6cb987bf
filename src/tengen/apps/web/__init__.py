"""The web app: a page that plays, shows how searches think, and watches nets learn; its server keeps no games."""
