"""Put what is in a database's schema `public` aside, and have what takes its place granted to whom it was granted.

The schema is renamed, which takes one lock. Where something of others is in it that we may not take along, it stays and
what is in it is moved, thing by thing (docs/decisions/0240-a-restore-leaves-others-what-they-have.md).
"""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Any, LiteralString

from controlplane.copies.finishing import REPLACED

# Who owns a trusted extension does not own what it made: only a superuser may move it.
HAS_TO_STAY: LiteralString = """
SELECT EXISTS (SELECT FROM pg_extension
                WHERE extnamespace = 'public'::regnamespace
                  AND NOT (extrelocatable AND (SELECT rolsuper FROM pg_roles WHERE rolname = current_user)))
    OR EXISTS (SELECT FROM pg_default_acl
                WHERE defaclnamespace = 'public'::regnamespace AND NOT pg_has_role(defaclrole, 'USAGE'))
"""
EXTENSIONS: LiteralString = """
SELECT format('ALTER EXTENSION %I SET SCHEMA public', extname)
  FROM pg_extension WHERE extnamespace = 'public'::regnamespace
"""
GRANTS_ON_NEW: LiteralString = """
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA public GRANT %s ON %s TO %s%s',
              pg_get_userbyid(defaclrole), privilege_type,
              CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'f' THEN 'ROUTINES' ELSE 'TYPES' END,
              CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END,
              CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
  FROM pg_default_acl, aclexplode(defaclacl)
 WHERE defaclnamespace = 'public'::regnamespace AND defaclobjtype IN ('r', 'S', 'f', 'T')
"""
# What an extension made goes with it, a sequence with the column that counts by it, the type of a row with its table.
MOVED: LiteralString = """
SELECT format('ALTER %s public.%I SET SCHEMA {replaced}',
              CASE relkind WHEN 'S' THEN 'SEQUENCE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
                           WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'c' THEN 'TYPE' ELSE 'TABLE' END, relname)
  FROM pg_class
 WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 'c')
   AND NOT EXISTS (SELECT FROM pg_depend
                    WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid
                      AND (deptype = 'e' OR relkind = 'S' AND deptype IN ('a', 'i')))
UNION ALL
SELECT format('ALTER ROUTINE public.%I(%s) SET SCHEMA {replaced}', proname, pg_get_function_identity_arguments(oid))
  FROM pg_proc
 WHERE pronamespace = 'public'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend
                    WHERE classid = 'pg_proc'::regclass AND objid = pg_proc.oid AND deptype IN ('e', 'i'))
UNION ALL
SELECT format('ALTER TYPE public.%I SET SCHEMA {replaced}', typname)
  FROM pg_type
 WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r')
   AND NOT EXISTS (SELECT FROM pg_depend
                    WHERE classid = 'pg_type'::regclass AND objid = pg_type.oid AND deptype = 'e')
UNION ALL
SELECT format('ALTER STATISTICS public.%I SET SCHEMA {replaced}', stxname)
  FROM pg_statistic_ext
 WHERE stxnamespace = 'public'::regnamespace
"""

# A view depends by its rule, a table by its constraint, its trigger, its policy or the default of a column.
OF_OTHERS: LiteralString = """
WITH ours AS (
    SELECT 'pg_class'::regclass AS kind, oid FROM pg_class WHERE relnamespace = 'public'::regnamespace
    UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typnamespace = 'public'::regnamespace
), dependent AS (
    SELECT DISTINCT
           CASE WHEN rule.ev_class IS NULL THEN need.classid ELSE 'pg_class'::regclass END AS kind,
           coalesce(rule.ev_class, need.objid) AS oid,
           coalesce(rule.ev_class, nullif(held.conrelid, 0), fired.tgrelid, policy.polrelid, given.adrelid) AS of_table
      FROM pg_depend AS need
      JOIN ours ON ours.kind = need.refclassid AND ours.oid = need.refobjid
      LEFT JOIN pg_rewrite AS rule ON need.classid = 'pg_rewrite'::regclass AND rule.oid = need.objid
      LEFT JOIN pg_constraint AS held ON need.classid = 'pg_constraint'::regclass AND held.oid = need.objid
      LEFT JOIN pg_trigger AS fired ON need.classid = 'pg_trigger'::regclass AND fired.oid = need.objid
      LEFT JOIN pg_policy AS policy ON need.classid = 'pg_policy'::regclass AND policy.oid = need.objid
      LEFT JOIN pg_attrdef AS given ON need.classid = 'pg_attrdef'::regclass AND given.oid = need.objid
     WHERE need.deptype IN ('n', 'a')
       AND NOT EXISTS (SELECT FROM pg_depend AS made
                        WHERE made.classid = ours.kind AND made.objid = ours.oid AND made.deptype = 'e')
)
SELECT named.type || ' ' || named.identity
  FROM dependent
  CROSS JOIN LATERAL pg_identify_object(kind, dependent.oid, 0) AS named
  LEFT JOIN pg_class ON pg_class.oid = of_table
 WHERE (coalesce(relnamespace::regnamespace::text, quote_ident(named.schema)) NOT IN ('public', 'pg_toast')
        OR kind = 'pg_publication_rel'::regclass)
   AND coalesce(relpersistence, 'p') <> 't'
   AND NOT EXISTS (SELECT FROM pg_depend AS made
                    WHERE made.classid = kind AND made.objid = dependent.oid AND made.deptype = 'e')
 ORDER BY 1
"""

# A thing without a row of grants has the rights that Postgres gives one that is new.
GRANTS: LiteralString = """
WITH things AS (
    SELECT 'pg_class'::regclass AS kind, oid, '' AS part, relowner AS owner,
           format(CASE relkind WHEN 'S' THEN 'SEQUENCE public.%I' ELSE 'TABLE public.%I' END, relname) AS thing,
           coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner)) AS acl
      FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    UNION ALL
    SELECT 'pg_class'::regclass, attrelid, format(' (%I)', attname), relowner, format('TABLE public.%I', relname), attacl
      FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
     WHERE relnamespace = 'public'::regnamespace AND attnum > 0 AND NOT attisdropped AND attacl IS NOT NULL
    UNION ALL
    SELECT 'pg_proc'::regclass, oid, '', proowner,
           format('ROUTINE public.%I(%s)', proname, pg_get_function_identity_arguments(oid)),
           coalesce(proacl, acldefault('f', proowner))
      FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL
    SELECT 'pg_namespace'::regclass, oid, '', nspowner, 'SCHEMA public', coalesce(nspacl, acldefault('n', nspowner))
      FROM pg_namespace WHERE nspname = 'public'
)
SELECT thing, given.privilege_type || part,
       CASE given.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(given.grantee)) END,
       given.is_grantable
  FROM things LEFT JOIN LATERAL aclexplode(acl) AS given
    ON given.grantee <> (SELECT oid FROM pg_roles WHERE rolname = current_user)
 WHERE NOT EXISTS (SELECT FROM pg_depend WHERE classid = kind AND objid = things.oid AND deptype = 'e')
"""


@dataclass(frozen=True, slots=True)
class Granted:
    """What one other role may do with one thing."""

    thing: str
    privilege: str
    role: str
    passes_on: bool


@dataclass(frozen=True, slots=True)
class GrantsOfOthers:
    """The schema, tables, sequences and routines that there are, and what other roles than ours may do with them."""

    things: frozenset[str]
    granted: frozenset[Granted]


def put_aside(cursor: Any) -> None:
    """Leave `public` without anything but extensions and what its keeper ordered for new tables; what was in it is aside."""
    cursor.execute(HAS_TO_STAY)
    if cursor.fetchone()[0]:
        cursor.execute(f"CREATE SCHEMA {REPLACED}")
        statements = _rows_of(cursor, MOVED.replace("{replaced}", REPLACED))
    else:
        statements = [*_rows_of(cursor, EXTENSIONS), *_rows_of(cursor, GRANTS_ON_NEW)]
        cursor.execute(f"ALTER SCHEMA public RENAME TO {REPLACED}")
        cursor.execute("CREATE SCHEMA public")
    for statement in statements:
        cursor.execute(statement)


def _rows_of(cursor: Any, query: str) -> list[str]:
    cursor.execute(query)
    return [value for (value,) in cursor.fetchall()]


def things_of_others(cursor: Any) -> list[str]:
    """Return what lies outside `public` and depends on what is in it, such as a view: it goes where that goes."""
    return _rows_of(cursor, OF_OTHERS)


def grants_of_others(cursor: Any) -> GrantsOfOthers:
    """Return what other roles may do with what is in `public` now."""
    cursor.execute(GRANTS)
    rows = cursor.fetchall()
    return GrantsOfOthers(
        frozenset(row[0] for row in rows),
        frozenset(Granted(*row) for row in rows if row[1] is not None),
    )


def keep_grants(cursor: Any, before: GrantsOfOthers) -> int:
    """Grant what is there now to the roles to which it was granted before, and to no other; return how many grants that are.

    What was not there before keeps the grants that the database's keeper ordered for what is new.
    """
    now = grants_of_others(cursor)
    for grant in now.granted - before.granted:
        if grant.thing in before.things:
            cursor.execute(f"REVOKE {grant.privilege} ON {grant.thing} FROM {grant.role}")
    kept = {grant for grant in before.granted if grant.thing in now.things}
    for statement in _grant_statements(kept - now.granted):
        cursor.execute(statement)
    return len(kept)


def _grant_statements(granted: Set[Granted]) -> Iterator[str]:
    for grant in sorted(granted, key=lambda each: (each.thing, each.role, each.privilege)):
        passing_on = " WITH GRANT OPTION" if grant.passes_on else ""
        yield f"GRANT {grant.privilege} ON {grant.thing} TO {grant.role}{passing_on}"
