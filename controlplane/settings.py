"""Django's settings, all of them derived from controlplane.env."""

import secrets
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pghistory

from apps.files.limits import BodyKind, body_limits
from controlplane import log_lines
from controlplane.env import PROJECT_ROOT, BadEnvironment, environment
from controlplane.folders import own_folder
from controlplane.static_names import IMMUTABLE

ENVIRONMENT = environment()
HOME: Path = ENVIRONMENT.home.expanduser().resolve()
FILES: str = ENVIRONMENT.files


def _secret_key() -> str:
    if ENVIRONMENT.secret_key:
        return ENVIRONMENT.secret_key
    path = HOME / "secret_key"
    if not path.exists():
        own_folder(HOME)
        draft = path.with_name(f"secret_key.{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(50))
        try:
            path.hardlink_to(draft)
        except FileExistsError:
            pass  # another process made it first, and its key is as good
        draft.unlink()
    return path.read_text().strip()


# A server that went without a word is noticed in half a minute or so, not after the kernel's two hours.
LOST_AFTER = {
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
}


def database_of(url: str) -> dict[str, object]:
    """Return the database of an address as Django takes it; refuses BadEnvironment."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        # What Python says of it may hold a part of the password.
        raise BadEnvironment(
            "RUNRATE_DATABASE_URL cannot be read: postgres://user:password@host:port/name, "
            "where # / ? @ [ ] of a password are written as %23 %2F %3F %40 %5B %5D"
        ) from None
    if url and parts.scheme not in {"postgres", "postgresql"}:
        raise BadEnvironment("RUNRATE_DATABASE_URL must start with postgres://")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "controlplane.limited_postgres",
        "NAME": unquote(parts.path.lstrip("/")) or "runrate",
        "USER": unquote(parts.username or "postgres"),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(port or ""),
        "OPTIONS": {"application_name": "runrate", **LOST_AFTER, **options},
        "CONN_MAX_AGE": 600,
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": False,
    }


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = list(ENVIRONMENT.old_secret_keys)
DEBUG = ENVIRONMENT.debug
ALLOWED_HOSTS = list(ENVIRONMENT.allowed_hosts)
CSRF_TRUSTED_ORIGINS = list(ENVIRONMENT.trusted_origins)
ROOT_URLCONF = "controlplane.urls"
WSGI_APPLICATION = "controlplane.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "accounts.User"
DATABASES = {"default": database_of(ENVIRONMENT.database_url)}
TAG_KEYS: tuple[str, ...] = ENVIRONMENT.tag_keys
AGENT_TOKEN_DAYS: int = ENVIRONMENT.agent_token_days
FINDING_FLOOR: int = ENVIRONMENT.finding_floor
UNPROVEN_SHARE: float = ENVIRONMENT.unproven_percent / 100
ENGINEER_HOUR_COST: int = ENVIRONMENT.engineer_hour_cost
PUBLISH_WASTE: bool = ENVIRONMENT.publish_waste
VERDICT_SHARES: dict[str, float] = dict(ENVIRONMENT.verdict_shares)
GL_CODES: dict[str, str] = dict(ENVIRONMENT.gl_codes)
AWS_EXTERNAL_ID: str = ENVIRONMENT.aws_external_id
TOKEN_WEIGHTS: tuple[int, ...] = ENVIRONMENT.token_weights
REVIEW_HOUR: int = ENVIRONMENT.review_hour
REVIEW_VERDICT_WEEKS: int = ENVIRONMENT.review_verdict_weeks
REVIEW_SHRINK_WASTE: float = ENVIRONMENT.review_shrink_waste / 100
REVIEW_RETIRE_WASTE: float = ENVIRONMENT.review_retire_waste / 100
REVIEW_LEAST_COVERAGE: float = ENVIRONMENT.review_least_coverage / 100
REVIEW_WITHOUT: tuple[str, ...] = ENVIRONMENT.review_without
PDF_FONTS: str = ENVIRONMENT.pdf_fonts
MOST_GPUS_PER_NODE: int = ENVIRONMENT.most_gpus_per_node
MOST_SLICES_PER_GPU: int = ENVIRONMENT.most_slices_per_gpu
MOST_HOLDERS_PER_GPU: int = ENVIRONMENT.most_holders_per_gpu
MOST_LABELS_PER_JOB: int = ENVIRONMENT.most_labels_per_job
MOST_NEW_NAMES: int = ENVIRONMENT.most_new_names
STALE_PRICE_DAYS: int = ENVIRONMENT.stale_price_days
KEEP_WINDOW_DAYS: int = ENVIRONMENT.keep_window_days
KEEP_USAGE_MONTHS: int = ENVIRONMENT.keep_usage_months
KEEP_QUOTE_DAYS: int = ENVIRONMENT.keep_quote_days
BACKUP_EVERY_HOURS: int = ENVIRONMENT.backup_every_hours
BACKUP_KEEP_DAILY: int = ENVIRONMENT.backup_keep_daily
BACKUP_KEEP_WEEKLY: int = ENVIRONMENT.backup_keep_weekly
BACKUP_KEEP_MONTHLY: int = ENVIRONMENT.backup_keep_monthly

SITE_URL: str = ENVIRONMENT.site_url
WEBHOOK_NETWORKS: tuple[str, ...] = ENVIRONMENT.webhook_networks
_MAIL = urlsplit(ENVIRONMENT.mail_url)
MAIL_IS_SET = bool(ENVIRONMENT.mail_url)
EMAIL_HOST, EMAIL_PORT = (
    _MAIL.hostname or "",
    _MAIL.port or (465 if _MAIL.scheme == "smtps" else 25),
)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = unquote(_MAIL.username or ""), unquote(_MAIL.password or "")
EMAIL_USE_SSL = _MAIL.scheme == "smtps"
EMAIL_USE_TLS = dict(parse_qsl(_MAIL.query)).get("starttls") == "yes"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL: str = ENVIRONMENT.mail_from

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "controlplane.social_accounts.ProvidersWithPages",
    "allauth.socialaccount.providers.openid_connect",
    "pgtrigger",
    "pghistory",
    "rest_framework",
    "drf_spectacular",
    "controlplane",
    "apps.marks",
    "apps.accounts",
    "apps.fleet",
    "apps.telemetry",
    "apps.pricing",
    "apps.workloads",
    "apps.ledger",
    "apps.unit_economics",
    "apps.planning",
    "apps.placement",
    "apps.review",
    "apps.console",
]

MIDDLEWARE = [
    "controlplane.request_id.name_request",
    "controlplane.security.content_security_policy",
    "controlplane.health.answer_by_any_name",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "controlplane.refusals.answer_database_trouble",
    "controlplane.statement_limits.limit_requests",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "controlplane.audit.note_who_changes",
    "controlplane.setup_count.count_after_answers",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PROJECT_ROOT / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": ["apps.console.templatetags.show_tags"],
        },
    }
]

# Counts of sign-ins and requests hold for all processes together; what `process` keeps for one.
CACHES = {
    "default": {"BACKEND": "controlplane.shared_cache.SharedCache"},
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

ACCOUNT_ADAPTER = "apps.accounts.authentication.sign_in.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
# Five wrong passwords from one machine lock that address for that machine, for five minutes; ten
# lock the machine out, for a minute.
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/5m/key"}
# Of X-Forwarded-For only what our own proxies wrote is believed.
TRUSTED_PROXIES: int = (
    int(ENVIRONMENT.https) if ENVIRONMENT.trusted_proxies is None else ENVIRONMENT.trusted_proxies
)
ALLAUTH_TRUSTED_PROXY_COUNT = TRUSTED_PROXIES
MFA_ADAPTER = "apps.accounts.authentication.sign_in.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Runrate"
SOCIALACCOUNT_ADAPTER = "apps.accounts.authentication.oidc.ProviderAdapter"
SOCIALACCOUNT_EMAIL_AUTHENTICATION = False
# A link leads to the provider: the policy forbids that a form does, and nobody can be signed in
# as somebody else by it, for the answer is bound to the session that asked.
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "OAUTH_PKCE_ENABLED": True,
        "SCOPE": list(ENVIRONMENT.oidc_scopes),
        "APPS": [
            {
                "provider_id": "provider",
                "name": ENVIRONMENT.oidc_name,
                "client_id": ENVIRONMENT.oidc_client_id,
                "secret": ENVIRONMENT.oidc_client_secret,
                "settings": {"server_url": ENVIRONMENT.oidc_issuer},
            }
        ]
        if ENVIRONMENT.oidc_issuer
        else [],
    }
}
OIDC_NAME = ENVIRONMENT.oidc_name if ENVIRONMENT.oidc_issuer else ""
OIDC_GROUPS_CLAIM = ENVIRONMENT.oidc_groups_claim
OIDC_GROUPS = ENVIRONMENT.oidc_groups
OIDC_REQUIRE_GROUP = ENVIRONMENT.oidc_require_group
OIDC_TRUST_ADDRESSES = ENVIRONMENT.oidc_trust_addresses
# Who it was stands in each event (apps/accounts/actions/audit.py), and no event is ever changed.
PGHISTORY_CONTEXT_FIELD = pghistory.ContextJSONField()
PGHISTORY_APPEND_ONLY = True

SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = ENVIRONMENT.https
CSRF_COOKIE_SECURE = ENVIRONMENT.https
SECURE_SSL_REDIRECT = ENVIRONMENT.https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if ENVIRONMENT.https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = ENVIRONMENT.https
SECURE_HSTS_PRELOAD = ENVIRONMENT.https
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENVIRONMENT.https else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [PROJECT_ROOT / "static"]
# Files are found, not collected: there is no folder that has to be filled before the first start.
STATIC_ROOT = None
# Served straight from static/ and, under names that change with them, from HOME/static-named.
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "controlplane.static_names.NamedStorage"},
}
STATICFILES_FINDERS = [
    "controlplane.static_names.NamedFinder",
    "django.contrib.staticfiles.finders.FileSystemFinder",
]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 3600
WHITENOISE_IMMUTABLE_FILE_TEST = IMMUTABLE
LARGEST_BODIES = body_limits(dict(ENVIRONMENT.largest_bodies))
DATA_UPLOAD_MAX_MEMORY_SIZE = LARGEST_BODIES[BodyKind.FORM]

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.authentication.BearerToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "apps.web.rest.schema.BoundedSchema",
    "EXCEPTION_HANDLER": "controlplane.refusals.problem_response",
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_THROTTLE_CLASSES": ["apps.web.rest.limits.PerMinute"],
    "URL_FORMAT_OVERRIDE": None,
}
API_REQUESTS_PER_MINUTE = {
    "reads": ENVIRONMENT.api_reads_per_minute,
    "writes": ENVIRONMENT.api_writes_per_minute,
    "events": ENVIRONMENT.api_events_per_minute,
    "quotes": ENVIRONMENT.api_quotes_per_minute,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Runrate",
    "DESCRIPTION": "What GPU work costs and what each dollar buys.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "POSTPROCESSING_HOOKS": ["apps.web.rest.schema.with_problems"],
}

log_lines.configure(ENVIRONMENT.log_format)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "controlplane.log_lines.LineFormatter", "style": ENVIRONMENT.log_format}
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    # It tells every key it finds as information.
    "loggers": {"botocore": {"level": "WARNING"}},
    "root": {"handlers": ["stderr"], "level": ENVIRONMENT.log_level},
}
