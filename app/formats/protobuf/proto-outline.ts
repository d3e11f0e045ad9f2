import type { SchemaKind, SchemaOutline } from '../parts/schema-part.ts';
import { fieldOf, itemOf, unitOfField } from './proto-program.ts';
import type { MessageType, ProtoField, ProtoKind, WellKnown } from './proto-type.ts';

/** What a well-known type is; none: anything. Wrappers are what they wrap. */
const WELL_KNOWN_KINDS: Readonly<Record<Exclude<WellKnown, 'wrapper'>, readonly SchemaKind[]>> = {
  ...{ duration: ['number'], decimal: ['number'] },
  ...{ timestamp: ['string'], date: ['string'], timeOfDay: ['string'] },
  ...{ struct: ['object'], listValue: ['list'], value: [] },
};

function kindsOf({ shape, kind, message }: ProtoField): readonly SchemaKind[] {
  if (shape !== 'single') {
    return [shape === 'list' ? 'list' : 'object'];
  }
  switch (kind) {
    case 'message':
      return kindsOfMessage(message);
    case 'bool':
      return ['boolean'];
    case 'string':
    case 'enum':
      return ['string'];
    case 'bytes':
      return ['bytes'];
    default:
      return ['number'];
  }
}

function kindsOfMessage(message: MessageType | null): readonly SchemaKind[] {
  const { wellKnown = null, fields = [] } = message ?? {};
  return wellKnown === null
    ? ['object']
    : wellKnown === 'wrapper'
      ? fields.flatMap(kindsOf)
      : WELL_KNOWN_KINDS[wellKnown];
}

/** The type of PostgreSQL that takes all values of a scalar, as SQL: an unsigned number has twice the range. */
const SCALAR_TYPES: Readonly<Record<Exclude<ProtoKind, 'message'>, string>> = {
  ...{ double: 'double precision', float: 'real', bool: 'boolean', string: 'text', bytes: 'bytea', enum: 'text' },
  ...{ int32: 'integer', sint32: 'integer', sfixed32: 'integer', uint32: 'bigint', fixed32: 'bigint' },
  ...{ int64: 'bigint', sint64: 'bigint', sfixed64: 'bigint', uint64: 'numeric', fixed64: 'numeric' },
};

const WELL_KNOWN_TYPES: Readonly<Record<Exclude<WellKnown, 'wrapper'>, string>> = {
  ...{ timestamp: 'timestamptz', duration: 'interval', date: 'date', timeOfDay: 'time', decimal: 'numeric' },
  ...{ struct: 'jsonb', listValue: 'jsonb', value: 'jsonb' },
};

function sqlTypeOfField({ shape, kind, message }: ProtoField): string {
  if (shape !== 'single') {
    return 'jsonb';
  }
  if (kind !== 'message') {
    return SCALAR_TYPES[kind];
  }
  const { wellKnown = null, fields: [wrapped] = [] } = message ?? {};
  if (wellKnown === 'wrapper') {
    return wrapped === undefined ? 'jsonb' : sqlTypeOfField(wrapped);
  }
  return wellKnown === null ? 'jsonb' : WELL_KNOWN_TYPES[wellKnown];
}

/** By number: a parser may list them in any order. */
const fieldSymbols = ({ shape, kind, symbols }: ProtoField): readonly string[] | undefined =>
  shape === 'single' && kind === 'enum'
    ? [...symbols].sort(([one], [other]) => one - other).map(([, symbol]) => symbol.toString('utf8'))
    : undefined;

function memberField(field: ProtoField, part: string | number): ProtoField | undefined {
  const item = itemOf(field);
  if (item !== null) {
    const isItem = field.shape === 'list' ? typeof part === 'number' : typeof part === 'string';
    return isItem ? item : undefined;
  }
  return field.message?.fields.find(({ name }) => name === part);
}

/** What a message of Protobuf says of its parts: a field with presence may be absent, which counts as null here. */
export const outlineOfMessage =
  (message: MessageType): SchemaOutline =>
  (path) => {
    const found = path.reduce<ProtoField | undefined>(
      (from, part) => from && memberField(from, part),
      fieldOf(message),
    );
    if (found === undefined) {
      return undefined;
    }
    const isMessage = found.shape === 'single' && found.message !== null && found.message.wellKnown === null;
    return {
      kinds: kindsOf(found),
      isNullable: found.hasPresence && !found.isRequired,
      unit: unitOfField(found),
      sqlType: sqlTypeOfField(found),
      symbols: fieldSymbols(found),
      fields: isMessage ? (found.message?.fields ?? []).map(({ name }) => name) : [],
    };
  };
