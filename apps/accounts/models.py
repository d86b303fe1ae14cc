"""The organisation, its people and teams, and the tokens machines come with."""

from typing import ClassVar

import pghistory
from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from apps.personal.fields import (
    CODE,
    DOCUMENT,
    FIGURES,
    IDENTIFIER,
    SECRET,
    TEXT,
    Declarations,
    free,
)


class StartingPoint(models.TextChoices):
    """Where an organisation's GPU work runs today: what it is shown first, and asked to connect."""

    BUYS_APIS = "buys_apis", "buys model APIs first"
    RENTS_CLOUDS = "rents_clouds", "rents GPUs in clouds"
    OWNS_HARDWARE = "owns_hardware", "owns hardware on Slurm"


class Organisation(models.Model):
    """The one organisation of this installation; currency, zone and week start are kept for good.

    Until someone has chosen them (`chosen_at` is null) they are defaults that may be replaced.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    name = models.TextField()
    currency = models.CharField(max_length=3)
    zone = models.TextField()
    week_starts_on = models.SmallIntegerField()
    # A price that moves by more waits for a second person of finance; null: none ever does.
    price_approval_per_cent = models.PositiveSmallIntegerField(null=True, default=20)
    # Empty until somebody chose one.
    starting_point = models.TextField(choices=StartingPoint.choices, blank=True, default="")
    # Filled by `manage.py demo`, which may therefore empty it again.
    is_demo = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    chosen_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="one_organisation"),
            models.CheckConstraint(
                condition=Q(week_starts_on__gte=1, week_starts_on__lte=7), name="week_start_is_iso"
            ),
            models.CheckConstraint(
                condition=Q(currency__regex=r"^[A-Z]{3}$"), name="currency_is_iso"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """The role of a person, which says what they may see and do."""

    FINANCE = "finance"
    PLATFORM = "platform"
    LEAD = "lead"
    VIEWER = "viewer"


class People(BaseUserManager["User"]):
    """Django's own commands make users through this."""

    def create_user(self, email: str, name: str, role: str, password: str) -> "User":
        """A person who signs in with `email`; the password is hashed with argon2."""
        user = self.model(email=self.normalize_email(email).lower(), name=name, role=role)
        user.set_password(password)
        user.save(using=self._db)
        return user


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    exclude=["password", "last_login"],
)
class User(AbstractBaseUser, PermissionsMixin):
    """A person who signs in."""

    email = models.EmailField(unique=True)
    name = models.TextField()
    role = models.TextField(choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]
    objects: ClassVar[People] = People()

    def __str__(self) -> str:
        return self.name


class TeamKind(models.TextChoices):
    """Ordinary teams, and the two that stand for nobody: told apart by this field, not by name."""

    TEAM = "team"
    PLATFORM = "platform"
    UNOWNED = "unowned"


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Team(models.Model):
    """A node of the team tree; cost centre is what finance books to."""

    name = models.TextField(unique=True)
    kind = models.TextField(choices=TeamKind.choices, default=TeamKind.TEAM)
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="owned_teams")
    cost_centre = models.TextField(blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind"], condition=~Q(kind="team"), name="one_platform_one_unowned"
            ),
            models.CheckConstraint(
                condition=~Q(parent=models.F("id")), name="team_is_not_its_own_parent"
            ),
        ]

    def __str__(self) -> str:
        return self.name


@pghistory.track(pghistory.InsertEvent(), pghistory.UpdateEvent(), pghistory.DeleteEvent())
class Membership(models.Model):
    """A person belongs to a team."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="memberships")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="memberships")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "team"], name="member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Invitation(models.Model):
    """A link by which a person chooses a password, once; kept only as its SHA-256."""

    user = models.ForeignKey(User, on_delete=models.PROTECT, related_name="invitations")
    digest = models.BinaryField(max_length=32, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    invited_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__gt=models.F("created_at")),
                name="invitation_expires_after_it_was_made",
            )
        ]

    def __str__(self) -> str:
        return f"invitation of {self.user}"


class Scope(models.TextChoices):
    """The scope of a token, which says what it may do.

    Each kind of fact has its own: whoever measures one cannot tell another.
    """

    INGEST = "ingest"
    JOBS = "jobs"
    RUNS = "runs"
    REQUESTS = "requests"
    USAGE = "usage"
    SCHEDULE = "schedule"
    READ = "read"
    MANAGE = "manage"


@pghistory.track(
    pghistory.InsertEvent(),
    pghistory.UpdateEvent(),
    pghistory.DeleteEvent(),
    exclude=["digest", "last_used_at"],
)
class AccessToken(models.Model):
    """A machine's credential: 256 random bits, kept only as their SHA-256.

    Bound to a team, it reads what is that team's and below; to none, what is the organisation's.
    """

    name = models.TextField()
    digest = models.BinaryField(max_length=32, unique=True)
    prefix = models.CharField(max_length=12)
    scopes = ArrayField(models.TextField(choices=Scope.choices))
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="tokens")
    # Who made it; null where a command or an agent's enrolment did.
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="tokens")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(expires_at__isnull=True) | Q(expires_at__gt=models.F("created_at")),
                name="token_expires_after_it_was_made",
            )
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class RepeatedRequest(models.Model):
    """The answer to a write, kept for a day under the caller's own name of the request."""

    caller = models.TextField()
    key = models.CharField(max_length=200)
    digest = models.BinaryField(max_length=32)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.JSONField(default=dict)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["caller", "key"], name="request_answered_once")
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.caller}"


class SavedView(models.Model):
    """A page with its filters, kept by name: for its owner, for who sees `team`, or for everybody."""

    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="saved_views")
    name = models.TextField()
    # Path and query of a page of the console, as its address has them.
    address = models.TextField()
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="saved_views")
    is_for_everybody = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="saved_view_named_once"),
            models.CheckConstraint(
                condition=Q(team=None) | Q(is_for_everybody=False),
                name="saved_view_is_shared_one_way",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Pseudonym(models.Model):
    """A name that is written as `pseudonym` everywhere; the name itself is kept only as a keyed digest."""

    digest = models.BinaryField(max_length=32, unique=True)
    pseudonym = models.TextField(unique=True)
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")

    def __str__(self) -> str:
        return self.pseudonym


class NameRemoval(models.Model):
    """One removal of a person's names: which tables are done, for whoever goes on with it.

    `sealed_names` are the names, by what is written for each, and are gone when it has `ended_at`. `tables` has how many
    rows were rewritten of each table (`app.model`) that is done; `files` what became of each file that holds a name.
    """

    sealed_names = models.TextField(blank=True, default="")
    tables = models.JSONField(default=dict)
    files = models.JSONField(default=list)
    began_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["id"], condition=Q(ended_at__isnull=True), name="name_removal_not_ended"
            )
        ]

    def __str__(self) -> str:
        return f"removal of {self.began_at}"


WITH_ACCESS = free("of one account: it is deleted or renamed with the person who signs in by it")
PERSONAL_FIELDS: Declarations = {
    "accesstoken": {"name": TEXT, "prefix": SECRET},
    "organisation": {"name": TEXT, "zone": CODE},
    "nameremoval": {
        "sealed_names": SECRET,
        "tables": FIGURES,
        "files": free("names of files that Runrate made, and what became of each"),
    },
    "pseudonym": {"pseudonym": free("what stands for a name")},
    "repeatedrequest": {"caller": IDENTIFIER, "key": TEXT, "body": DOCUMENT},
    "savedview": {"name": TEXT, "address": TEXT},
    "team": {"name": TEXT, "cost_centre": TEXT},
    # Renamed by who is taken out: two people may have one name.
    "user": {"email": WITH_ACCESS, "name": WITH_ACCESS, "password": SECRET},
    "account.emailaddress": {"email": WITH_ACCESS},
    "account.emailconfirmation": {"key": SECRET},
    "auth.group": {"name": CODE},
    "auth.permission": {"name": CODE, "codename": CODE},
    "contenttypes.contenttype": {"app_label": CODE, "model": CODE},
    "mfa.authenticator": {"type": CODE, "data": SECRET},
    "pghistory.context": {"metadata": DOCUMENT},
    "sessions.session": {"session_key": SECRET, "session_data": SECRET},
    "socialaccount.socialaccount": {
        "provider": CODE, "uid": WITH_ACCESS, "extra_data": WITH_ACCESS,
    },
    "socialaccount.socialapp": {
        "provider": CODE, "provider_id": CODE, "name": CODE, "client_id": SECRET,
        "secret": SECRET, "key": SECRET, "settings": SECRET,
    },
    "socialaccount.socialtoken": {"token": SECRET, "token_secret": SECRET},
}  # fmt: skip
"""What the columns of this app, and of those of others that people sign in with, may hold of a person."""
