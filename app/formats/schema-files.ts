import { dirname, join, resolve } from 'node:path';
import type { Rule } from '../../settings/schema/check.ts';
import { nearestKey, type Problem } from '../../settings/schema/problem.ts';
import { type FileFormat, schemaFiles } from '../../settings/sections/formats.ts';
import type { Settings } from '../../settings/settings.ts';
import { readText, shownFile } from '../credentials/named-file.ts';
import { AvroSchemaError, avroType, type SchemaText } from './avro/avro-schema.ts';
import { ProtoSchemaError } from './protobuf/proto-files.ts';
import { ProtoSchema } from './protobuf/proto-schema.ts';
import type { MessageType } from './protobuf/proto-type.ts';

/** Messages of a file that a problem lists. */
const MOST_LISTED = 10;

const textOrNull = (path: string): string | null => {
  try {
    return readText(path);
  } catch {
    return null;
  }
};

/** Files that a file imports are in its folder, or in one around it, as its own name may have folders of a package. */
function importedText(file: string, name: string): string | null {
  const folder = dirname(resolve(file));
  const around = dirname(folder) === folder ? null : dirname(folder);
  return textOrNull(join(folder, name)) ?? (around === null ? null : importedText(folder, name));
}

/** @throws the file system's error */
export const avroFile = (path: string): SchemaText => ({ id: path, text: readText(path), references: [] });

/** @throws the file system's error, ProtoSchemaError where it is no schema */
const protoFile = (path: string): ProtoSchema =>
  new ProtoSchema({ id: path, text: readText(path), imported: (name) => importedText(path, name) });

/** The message of a schema's file. @throws the file system's error, ProtoSchemaError where it has none */
export function messageOfFile({ protobuf, message }: FileFormat & { readonly protobuf: string }): MessageType {
  const found = protoFile(protobuf).message(message);
  if (found === undefined) {
    throw new ProtoSchemaError(`its schema ${protobuf} has no message ${message}`);
  }
  return found;
}

/** What is wrong with a file, as the end of a sentence. */
function fileFault(error: unknown, path: string): string {
  if (error instanceof AvroSchemaError || error instanceof ProtoSchemaError) {
    return `names a file that cannot be used: ${withLine(error.message, path)}`;
  }
  const { code } = error as NodeJS.ErrnoException;
  return `names a file that ${REASONS[code ?? ''] ?? `cannot be read (${code ?? 'for an unknown reason'})`}`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be read by this user',
  TOO_LARGE: 'is larger than 1 MiB',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
};

/** The line of the name that a fault is about, where the fault has none itself: that of its first place. */
function withLine(fault: string, path: string): string {
  const name = /the type (\S+)|refers to (\S+)/.exec(fault)?.slice(1).find(Boolean);
  if (/\(line [0-9]+\)/.test(fault) || name === undefined) {
    return fault;
  }
  const text = readText(path);
  const at = text.indexOf(name);
  return at < 0 ? fault : `${fault} (line ${text.slice(0, at).split('\n').length})`;
}

/** JSON that is none: where. */
function jsonFault(path: string): string | null {
  const text = readText(path);
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const at = Number(/position ([0-9]+)/.exec(String(error))?.[1] ?? text.length);
    return `names a file that is no JSON (line ${text.slice(0, at).split('\n').length})`;
  }
}

function avroProblems(path: string, file: string): readonly Problem[] {
  const allowed = 'a schema of Avro, as JSON';
  try {
    const fault = jsonFault(file);
    if (fault !== null) {
      return [{ path, message: fault, given: shownFile(file, process.cwd()), allowed }];
    }
    avroType(avroFile(file));
    return [];
  } catch (error) {
    return [{ path, message: fileFault(error, file), given: shownFile(file, process.cwd()), allowed }];
  }
}

function protoProblems(path: string, { protobuf, message }: { protobuf: string; message: string }): readonly Problem[] {
  try {
    const schema = protoFile(protobuf);
    if (schema.message(message) !== undefined) {
      return [];
    }
    const nearest = nearestKey(message, schema.names);
    return [
      {
        path: `${path}.message`,
        message: `is no message of ${shownFile(protobuf, process.cwd())}`,
        given: message,
        allowed: schema.names.length === 0 ? 'another file' : schema.names.slice(0, MOST_LISTED).join(', '),
        ...(nearest !== undefined && { nearest }),
      },
    ];
  } catch (error) {
    const given = shownFile(protobuf, process.cwd());
    const allowed = 'a schema of Protobuf, as protoc takes it';
    return [{ path: `${path}.protobuf`, message: fileFault(error, protobuf), given, allowed }];
  }
}

/** Files with schemas can be read, and are some. */
const filesAreSchemas: Rule<Settings> = {
  reads: ['formats[]'],
  masksItself: true,
  find: (settings) =>
    schemaFiles(settings).flatMap(({ path, format }) =>
      format.avro === undefined ? protoProblems(path, format) : avroProblems(`${path}.avro`, format.avro),
    ),
};

/** What must hold for the files with schemas that settings name. */
export const SCHEMA_FILE_RULES: readonly Rule<Settings>[] = [filesAreSchemas];
