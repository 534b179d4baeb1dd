"""Django settings. What changes between machines comes from assay.config.environment."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from django.utils.translation import gettext_lazy as _

from assay.config import environment

ROOT = Path(__file__).resolve().parents[3]  # the folder that holds manage.py
STATE_DIR = environment.state_dir()

SECRET_KEY = environment.secret_key()
DEBUG = os.environ.get("ASSAY_DEBUG", "") == "1"
ALLOWED_HOSTS = [
    h.strip()
    for h in os.environ.get("ASSAY_ALLOWED_HOSTS", "localhost,.localhost,127.0.0.1").split(",")
    if h.strip()
]
# Tenants live under https in a real deployment; on localhost there is no certificate.
HTTPS = os.environ.get("ASSAY_HTTPS", "") == "1"

# --- applications -------------------------------------------------------------------------------

# In every schema, the public one included: users, sessions and the audit trail of one company are rows
# of its own schema, so that nobody's sign-in or session means anything under another host name.
_EVERYWHERE = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.admin",
    "assay.accounts",
]
SHARED_APPS = [
    "assay.tenancy",  # before django_tenants, whose create_tenant command it replaces
    "django_tenants",
    "assay.config",
    *_EVERYWHERE,
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "django_htmx",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "assay.api",
    "assay.web",
]
TENANT_APPS = [
    *_EVERYWHERE,
    "assay.plugin_choices",
    "assay.packs",
    "assay.bots",
    "assay.runs",
    "assay.reports",
    "assay.integrations",
]
INSTALLED_APPS = [*SHARED_APPS, *(a for a in TENANT_APPS if a not in SHARED_APPS)]

TENANT_MODEL = "tenancy.Tenant"
TENANT_DOMAIN_MODEL = "tenancy.Domain"
PUBLIC_SCHEMA_URLCONF = "assay.config.urls_public"
ASSAY_OPERATORS_HOST = os.environ.get("ASSAY_OPERATORS_HOST") or "admin.localhost"  # of the public schema
# One SET search_path for each connection and tenant instead of one for each cursor; django-tenants forgets
# it by itself whenever a transaction is rolled back or the connection closes.
TENANT_LIMIT_SET_CALLS = True

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "assay.config.middleware.ContentSecurityPolicyMiddleware",
    "assay.config.middleware.StaticFilesMiddleware",  # the same for everybody, so before the tenant is looked up
    "django_tenants.middleware.main.TenantMainMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "assay.config.urls"
ASGI_APPLICATION = "assay.config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "assay.web.context.permissions",
            ]
        },
    }
]

# --- database -----------------------------------------------------------------------------------


def _database(url: str) -> dict[str, object]:
    """Django's settings for a postgresql:// URL. A `host` in the query may be a socket folder."""
    parts = urlsplit(url)
    if parts.scheme not in ("postgres", "postgresql"):
        raise SystemExit(
            f"ASSAY_DATABASE_URL must start with postgresql://, not {parts.scheme or 'nothing'}://"
        )
    options: dict[str, object] = dict(parse_qsl(parts.query))
    host = str(options.pop("host", "") or unquote(parts.hostname or ""))
    options.setdefault("connect_timeout", 10)
    return {
        "ENGINE": "django_tenants.postgresql_backend",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": host,
        "PORT": str(parts.port or options.pop("port", "") or ""),
        "OPTIONS": options,
        "DISABLE_SERVER_SIDE_CURSORS": True,
    }


DATABASES = {"default": _database(environment.database_url())}
DATABASE_ROUTERS = ["django_tenants.routers.TenantSyncRouter"]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- people -------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
# Sign-in by address and password; what somebody may do follows the role (assay.accounts.roles).
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/sign-in/"

# --- what a browser may do ----------------------------------------------------------------------

# No cookie names a domain: each belongs to exactly one host, that is to one tenant.
SESSION_COOKIE_NAME = "assay_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_COOKIE_NAME = "assay_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
DATA_UPLOAD_MAX_MEMORY_SIZE = 60 * 1024 * 1024  # a pack is at most 50 MB
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5_000
FILE_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

STATIC_URL = "/static/"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Static files are served from where they are installed, so that nothing has to be collected first.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- language and time --------------------------------------------------------------------------

USE_I18N = True
LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [ROOT / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# --- API ----------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    # Tokens only: a browser's cookie opens nothing here, so there is no request to forge.
    "DEFAULT_AUTHENTICATION_CLASSES": ["assay.api.authentication.TokenAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["assay.api.permissions.RolePermission"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "DEFAULT_FILTER_BACKENDS": [
        "django_filters.rest_framework.DjangoFilterBackend",
        "rest_framework.filters.SearchFilter",
    ],
    "PAGE_SIZE": 100,
    "EXCEPTION_HANDLER": "assay.api.errors.handle",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Packs, bots, runs and trials of one tenant.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PUBLIC": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "ENUM_NAME_OVERRIDES": {
        "RunStatus": "assay.runs.models.RunStatus",
        "TrialStatus": "assay.runs.models.TrialStatus",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# --- background work ----------------------------------------------------------------------------

CELERY_BROKER_URL = environment.broker_url()
CELERY_BROKER_TRANSPORT_OPTIONS = environment.CELERY_TRANSPORT_OPTIONS
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_TIMEOUT = 10
CELERY_TASK_IGNORE_RESULT = True  # results are rows
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# Installations that share a broker need queues of their own, or they wake each other's workers.
CELERY_TASK_DEFAULT_QUEUE = os.environ.get("ASSAY_QUEUE") or "assay"
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_TIME_LIMIT = 3_600  # a bound for everything; run slices are far shorter
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
# Nobody commands workers through the broker, and a queue for it would be locked while a lost worker's
# connection lingers.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False

ASSAY_LEASE_SECONDS = 60  # a trial whose worker says nothing for so long is somebody else's
ASSAY_SLICE_SECONDS = 20  # one task claims trials of one run for so long, then lets other tenants have a turn
ASSAY_TRIALS_AT_ONCE = 16  # in one worker process, unless the run says otherwise
ASSAY_SWEEP_SECONDS = 5  # how often runs with work and no worker are looked for
ASSAY_WAKES = 4  # wake messages for a new run; more worker processes than this join through the sweep
ASSAY_MAX_WORKER_LOSSES = 5  # a trial that outlives so many workers is void: it may be what kills them
ASSAY_RETRY_SECONDS = 1.0  # before a void trial's second attempt; doubled each time
ASSAY_RUN_FINISHED = ["assay.integrations.services.queue_run_finished"]  # called as f(run) after the commit
ASSAY_SWEEPS = [
    "assay.packs.verifying.sweep",
    "assay.runs.regrading.sweep",
    "assay.integrations.sweeping.sweep_deliveries",
]  # called as f(schema), in the schema, at each sweep
# In links that are sent elsewhere; behind https a proxy answers at the usual port.
ASSAY_SITE_PORT = os.environ.get("ASSAY_SITE_PORT", "" if HTTPS else "8000")

# --- logs ---------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("ASSAY_LOG_LEVEL", "WARNING")},
    "loggers": {
        # A wrong host or path is the visitor's; it is answered, not logged.
        "django.security.DisallowedHost": {"level": "ERROR"},
        "django.request": {"level": "ERROR"},
    },
}
