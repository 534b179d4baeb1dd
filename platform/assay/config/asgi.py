"""The web server's door: `uvicorn assay.config.asgi:application`."""

import os

from django.core.asgi import get_asgi_application

from assay.config.bodies import bounded

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assay.config.settings")
application = bounded(get_asgi_application())
