import { createServer } from 'node:net';
import { managementEndpoint } from '../../../contract/actuator.ts';
import { topicsOf } from '../../../settings/sections/tables.ts';
import type { Settings } from '../../../settings/settings.ts';
import { createRegistry, registrySubjects, type SchemaRegistry } from '../../formats/registry/schema-registry.ts';
import { isUsable } from '../../formats/registry/schemas.ts';
import { UNWATCHED } from '../../logging/outage-log.ts';
import { ListenError, listenAt } from '../../management/listening.ts';
import { systemClock } from '../../stream/ports/clock.ts';
import { type Finding, inTime, ok, type Subject, warning, wrong } from './finding.ts';

/** Asks the schema registry for the latest schema of each subject, as the start does; nothing where none is set. */
export async function checkRegistry(settings: Settings): Promise<readonly Finding[]> {
  const registry = createRegistry(settings, { current: () => settings, clock: systemClock, outages: UNWATCHED });
  if (registry === undefined) {
    return [];
  }
  try {
    return await Promise.all(
      registrySubjects(settings, topicsOf(settings)).map((subject) => subjectFinding(registry, subject)),
    );
  } finally {
    await registry.close();
  }
}

function subjectFinding(registry: SchemaRegistry, name: string): Promise<Finding> {
  const subject: Subject = { area: 'schema registry', check: 'subject', name };
  return inTime(subject, async () => {
    const schema = await registry.latest(name);
    if (schema === undefined) {
      return ok(subject, 'the registry has no schema of it yet');
    }
    return isUsable(schema)
      ? ok(subject, `schema ${schema.id} of type ${schema.type} is its latest`)
      : warning(subject, `${schema.words}: records of it are dead letters`);
  });
}

/** A health as this program and Spring Boot answer it. */
const HEALTH = /^\{"status":"[A-Z_]+"/;
const ASK_MS = 2_000;

/**
 * Whether something at the port answers as a consumer: `doctor` may run beside it, as by `kubectl exec`. The
 * certificate and the credential of the interface do not matter for that.
 */
async function answersAsConsumer(settings: Settings): Promise<boolean> {
  const { scheme, port, address, healthPath } = managementEndpoint(settings);
  const host = address === '0.0.0.0' || address === '::' ? '127.0.0.1' : address;
  const { get } = scheme === 'HTTPS' ? await import('node:https') : await import('node:http');
  return new Promise((resolve) => {
    const url = `${scheme.toLowerCase()}://${host.includes(':') ? `[${host}]` : host}:${port}${healthPath}`;
    const request = get(url, { rejectUnauthorized: false, timeout: ASK_MS }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => {
        text = `${text}${piece.toString('latin1')}`.slice(0, 1_000);
      });
      response.on('end', () => resolve(HEALTH.test(text)));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}

/** Listens at the management port for a moment, as the start does for good. */
export async function checkPort(settings: Settings): Promise<Finding> {
  const endpoint = managementEndpoint(settings);
  const subject: Subject = { area: 'management port', check: 'port', name: String(endpoint.port) };
  const server = createServer();
  try {
    await listenAt(server, endpoint);
    return ok(subject, endpoint.port === 0 ? 'any free one is taken' : 'free');
  } catch (error) {
    if (!(error instanceof ListenError)) {
      throw error;
    }
    return (await answersAsConsumer(settings))
      ? warning(subject, {
          message: 'taken, by what answers as a consumer: right where doctor runs beside it, as in its Pod',
          mend: `else end that one, or set ${endpoint.settings.port} to a free port`,
        })
      : wrong(subject, { message: error.message, code: 'LISTEN_FAILED' });
  } finally {
    server.close();
  }
}
