import { IS_ROW_TRIGGER } from '../../store/tables/table-guard.ts';
import { FINGERPRINT, STAGED_FINGERPRINT } from './fingerprint-guard.ts';

/** More tables are not looked through for one whose name is near. */
const MOST_OTHERS = 5_000;

/**
 * A type with its modifier as SQL: format_type leaves out the schema of what search_path shows, and that may differ.
 */
const typeText = (oid: string, modifier: string): string => `(
  SELECT CASE WHEN nspname <> 'pg_catalog' AND pg_type_is_visible(shown.oid) THEN quote_ident(nspname) || '.' ELSE '' END
         || format_type(${oid}, ${modifier})
    FROM pg_type AS given
    JOIN pg_type AS shown ON shown.oid = CASE WHEN given.typinput = 'array_in'::regproc THEN given.typelem ELSE given.oid END
    JOIN pg_namespace ON pg_namespace.oid = shown.typnamespace
   WHERE given.oid = ${oid})`;

/**
 * With the table's OID pg_get_expr takes the table's lock, and waits while another transaction holds it. A default
 * names no column, so it needs no table.
 */
const NO_RELATION = 0;

/** Partitions of the table at hand and theirs. `pg_partition_tree` takes the lock of each. */
const PARTITIONS = `(WITH RECURSIVE tree AS (
    SELECT pg_class.oid AS relid UNION
    SELECT inhrelid FROM tree JOIN pg_partitioned_table ON partrelid = relid JOIN pg_inherits ON inhparent = relid)
  SELECT relid FROM tree WHERE relid <> pg_class.oid) AS partitions`;

const COLUMNS = `(SELECT coalesce(json_agg(json_build_object(
    'name', attname, 'typeOid', atttypid::int8, 'typeName', format_type(atttypid, atttypmod),
    'isNotNull', attnotnull, 'hasDefault', attgenerated = '' AND (atthasdef OR attidentity <> ''),
    'isGenerated', attgenerated <> '',
    'identity', CASE attidentity WHEN 'a' THEN 'always' WHEN 'd' THEN 'by default' END,
    'sqlType', ${typeText('atttypid', 'atttypmod')},
    'collation', (SELECT quote_ident(nspname) || '.' || quote_ident(collname) FROM pg_collation
       JOIN pg_namespace ON pg_namespace.oid = collnamespace WHERE pg_collation.oid = attcollation),
    'defaultExpression', CASE WHEN attgenerated = '' THEN (SELECT pg_get_expr(adbin, ${NO_RELATION})
       FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum) END,
    'isInsertable', has_column_privilege(attrelid, attnum, 'INSERT'),
    'isSelectable', has_column_privilege(attrelid, attnum, 'SELECT'),
    'isUpdatable', has_column_privilege(attrelid, attnum, 'UPDATE'),
    'forbiddenSequence', (SELECT min(refobjid::regclass::text) FROM pg_depend
       JOIN pg_attrdef ON pg_attrdef.oid = objid JOIN pg_class sequence ON sequence.oid = refobjid
      WHERE classid = 'pg_attrdef'::regclass AND refclassid = 'pg_class'::regclass AND adrelid = attrelid AND adnum = attnum
        AND CASE WHEN sequence.relkind = 'S' THEN NOT has_sequence_privilege(refobjid, 'USAGE, UPDATE') END)
  ) ORDER BY attnum), '[]')
  FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped)`;

const IS_OWN = `EXISTS (SELECT FROM pg_class own
  WHERE own.relnamespace = to_regnamespace($3) AND own.relname = ANY ($4::text[])
    AND (own.oid = pg_class.oid OR own.oid IN (SELECT pg_partition_ancestors(pg_class.oid))))`;

/** The operator that a column of the index at hand is compared for equality by: strategy 3 of btree. */
const EQUALITY = `(SELECT format('OPERATOR(%I.%s)', nspname, oprname)
  FROM pg_opclass JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype
  JOIN pg_operator ON pg_operator.oid = amopopr JOIN pg_namespace ON pg_namespace.oid = oprnamespace
 WHERE pg_opclass.oid = indclass[place] AND amopstrategy = 3 AND amoppurpose = 's' AND nspname <> 'pg_catalog')`;

/**
 * The operator by which two values of the type at hand are compared, not less than: strategy 4 of the default class of
 * btree that takes it, which may be that of a type with the same bytes. None: the type has no order.
 */
const NOT_LESS = `(SELECT format('OPERATOR(%I.%s)', nspname, oprname)
  FROM pg_opclass JOIN pg_am ON pg_am.oid = opcmethod AND amname = 'btree'
  JOIN pg_amop ON amopfamily = opcfamily AND amoplefttype = opcintype AND amoprighttype = opcintype
  JOIN pg_operator ON pg_operator.oid = amopopr JOIN pg_namespace ON pg_namespace.oid = oprnamespace
 WHERE opcdefault AND amopstrategy = 4 AND amoppurpose = 's' AND (opcintype = pg_type.oid OR opcintype IN (
   SELECT casttarget FROM pg_cast WHERE castsource = pg_type.oid AND castmethod = 'b' AND castcontext = 'i'))
 ORDER BY opcintype = pg_type.oid DESC LIMIT 1)`;

const UNIQUE_INDEXES = `(SELECT coalesce(json_agg(json_build_object(
    'name', relname, 'isPrimary', indisprimary, 'isValid', indisvalid, 'isImmediate', indimmediate,
    'isPartial', indpred IS NOT NULL, 'isExclusion', indisexclusion,
    'constraint', (SELECT conname FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x')
      AND conrelid = indrelid),
    'columns', (SELECT json_agg(json_build_object('name', attname,
        'isOtherCollation', indcollation[place] IS DISTINCT FROM attcollation,
        'isOtherClass', NOT opcdefault, 'equality', ${EQUALITY}) ORDER BY place)
      FROM generate_series(0, indnkeyatts - 1) AS place
      JOIN pg_opclass ON pg_opclass.oid = indclass[place]
      LEFT JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[place] AND attnum > 0)
  ) ORDER BY relname), '[]')
  FROM pg_index JOIN pg_class AS index ON index.oid = indexrelid
 WHERE indrelid = pg_class.oid AND indisunique)`;

const RELATION = `json_build_object(
  'oid', pg_class.oid::int8, 'kind', relkind, 'isUnlogged', relpersistence = 'u',
  'unsafePartitions', (SELECT coalesce(json_agg(leaf.oid::regclass::text ORDER BY leaf.oid), '[]')
     FROM ${PARTITIONS} JOIN pg_class leaf ON leaf.oid = relid
    WHERE (leaf.relkind = 'f' OR leaf.relpersistence = 'u' AND leaf.relkind = 'r')),
  'isOwn', ${IS_OWN},
  'hasRowSecurity', row_security_active(pg_class.oid),
  'isInsertable', has_table_privilege(pg_class.oid, 'INSERT'),
  'isDeletable', has_table_privilege(pg_class.oid, 'DELETE'),
  'rules', (SELECT coalesce(json_agg(rulename ORDER BY rulename), '[]') FROM pg_rewrite
     WHERE ev_class = pg_class.oid AND ev_type <> '1' AND ev_enabled <> 'D'),
  'partitionedBy', (SELECT coalesce(json_agg(attname ORDER BY attnum), '[]') FROM pg_partitioned_table
     JOIN pg_attribute ON attrelid = partrelid AND attnum = ANY (partattrs::int2[]) WHERE partrelid = pg_class.oid),
  'uniqueIndexes', ${UNIQUE_INDEXES},
  'foreignKeys', (SELECT coalesce(json_agg(conname ORDER BY conname), '[]') FROM pg_constraint
    WHERE conrelid = pg_class.oid AND contype = 'f' AND confrelid <> conrelid
      AND coalesce(to_jsonb(pg_constraint) ->> 'conenforced', 'true')::boolean),
  'refersToItself', EXISTS (SELECT FROM pg_constraint
    WHERE conrelid = pg_class.oid AND contype = 'f' AND confrelid = conrelid),
  'rowTriggers', (SELECT coalesce(json_agg(DISTINCT tgname), '[]') FROM pg_trigger
    WHERE (tgrelid = pg_class.oid OR tgrelid IN (SELECT relid FROM ${PARTITIONS})) AND ${IS_ROW_TRIGGER}),
  'fingerprint', ${FINGERPRINT}, 'stagedFingerprint', ${STAGED_FINGERPRINT}, 'columns', ${COLUMNS})`;

/** The same for all names that have no table, so the first of these has them alone: they may be many. */
const OTHERS = `(SELECT coalesce(json_agg(near), '[]') FROM (
  SELECT nspname AS schema, relname AS "table" FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE relkind IN ('r', 'p') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
   ORDER BY nspname = ANY ($1) DESC, nspname, relname LIMIT ${MOST_OTHERS}) AS near)`;

/** Whether a CHECK of the domain at hand may refuse NULL: one that names neither is NULL of it, and so fulfilled. */
const REFUSES_NULL = `EXISTS (SELECT FROM pg_constraint
  WHERE contypid = pg_type.oid AND contype = 'c' AND pg_get_constraintdef(pg_constraint.oid) ~* 'null|coalesce')`;

/**
 * All types that the columns' types are made of: base types of domains, elements of arrays, attributes of composites.
 */
const COLUMN_TYPES = `(WITH RECURSIVE parts AS (
    SELECT atttypid AS oid FROM pg_attribute WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT inner_oid FROM parts JOIN pg_type USING (oid) CROSS JOIN LATERAL (
      SELECT typbasetype WHERE typbasetype <> 0
      UNION ALL SELECT typelem WHERE typinput = 'array_in'::regproc
      UNION ALL SELECT atttypid FROM pg_attribute
        WHERE typrelid <> 0 AND attrelid = typrelid AND attnum > 0 AND NOT attisdropped) AS of_type (inner_oid))
  SELECT json_agg(json_build_object(
    'oid', oid::int8, 'name', format_type(oid, NULL),
    'known', CASE WHEN typnamespace = 'pg_catalog'::regnamespace OR typname = 'citext' THEN typname ELSE '' END,
    'base', typbasetype::int8, 'element', CASE WHEN typinput = 'array_in'::regproc THEN typelem::int8 ELSE 0 END,
    'delimiter', typdelim, 'notLess', CASE WHEN typtype IN ('e', 'r', 'm') THEN 'OPERATOR(pg_catalog.>=)' ELSE ${NOT_LESS} END, 'hasDefault', typdefault IS NOT NULL,
    'isNotNull', typnotnull, 'refusesNull', typnotnull OR ${REFUSES_NULL},
    'sqlBase', ${typeText('pg_type.typbasetype', 'pg_type.typtypmod')},
    'defaultExpression', pg_get_expr(typdefaultbin, ${NO_RELATION}),
    'isUsable', has_type_privilege(oid, 'USAGE') AND has_schema_privilege(typnamespace, 'USAGE'),
    'attributes', (SELECT json_agg(json_build_object(
        'name', attname, 'type', atttypid::int8, 'typeName', format_type(atttypid, atttypmod)) ORDER BY attnum)
      FROM pg_attribute WHERE typtype = 'c' AND attrelid = typrelid AND attnum > 0 AND NOT attisdropped)))
  FROM parts JOIN pg_type USING (oid))`;

/**
 * One query for all names, which waits for no lock: `$1` are their schemas, `$2` the tables, `$3` our own schema and
 * `$4` the names of our own tables.
 */
export const CATALOG = `
  SELECT wanted.schema, wanted.name AS "table", current_setting('server_version_num')::int AS "serverVersion",
    current_user AS role, current_database() AS database,
    has_database_privilege(current_database(), 'TEMPORARY') AS "mayMakeTemporary", pg_namespace.oid IS NOT NULL AS "hasSchema",
    coalesce(has_schema_privilege(pg_namespace.oid, 'USAGE'), false) AS "maySeeSchema",
    CASE WHEN pg_class.oid IS NOT NULL THEN ${RELATION} END AS relation,
    CASE WHEN pg_class.oid IS NOT NULL THEN ${COLUMN_TYPES} END AS types,
    CASE WHEN nth = min(nth) FILTER (WHERE pg_class.oid IS NULL) OVER () THEN ${OTHERS} ELSE '[]' END AS others
  FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS wanted (schema, name, nth)
  LEFT JOIN pg_namespace ON nspname = wanted.schema
  LEFT JOIN pg_class ON relnamespace = pg_namespace.oid AND relname = wanted.name
  ORDER BY nth`;
