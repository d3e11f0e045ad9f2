import type { SchemaKind, SchemaOutline } from '../schema-part.ts';
import { fieldOf, itemOf, unitOf } from './proto-program.ts';
import type { MessageType, ProtoField, WellKnown } from './proto-type.ts';

/** What a well-known type is; none: anything. Wrappers are what they wrap. */
const KINDS: Readonly<Record<Exclude<WellKnown, 'wrapper'>, readonly SchemaKind[]>> = {
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
  return wellKnown === null ? ['object'] : wellKnown === 'wrapper' ? fields.flatMap(kindsOf) : KINDS[wellKnown];
}

function memberOf(field: ProtoField, part: string | number): ProtoField | undefined {
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
    const found = path.reduce<ProtoField | undefined>((from, part) => from && memberOf(from, part), fieldOf(message));
    if (found === undefined) {
      return undefined;
    }
    const isMessage = found.shape === 'single' && found.message !== null && found.message.wellKnown === null;
    return {
      kinds: kindsOf(found),
      isNullable: found.hasPresence && !found.isRequired,
      unit: unitOf(found),
      fields: isMessage ? (found.message?.fields ?? []).map(({ name }) => name) : [],
    };
  };
