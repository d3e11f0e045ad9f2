import { type Static, Type } from 'typebox';
import { consumer } from './consumer.ts';
import { database } from './database.ts';
import { deadLetters } from './dead-letters.ts';
import { duration } from './duration-setting.ts';
import { info } from './info.ts';
import { kafka } from './kafka.ts';
import { management } from './management.ts';
import { records } from './records.ts';
import { closed, section } from './section.ts';
import { server } from './server.ts';
import { spring } from './spring-boot-admin.ts';

/**
 * The application's configuration: the one schema from which the types, the defaults, the published JSON Schema, the
 * environment variables' names and the check at start and at synth all come.
 */
export const SettingsSchema = Type.Object(
  {
    server,
    kafka,
    database,
    consumer,
    records,
    deadLetters,
    shutdown: Type.Object(
      {
        timeout: duration(
          '25s',
          'Time to drain in after SIGTERM; what is not written by then stays ahead of the stored offset.',
        ),
      },
      { ...section, description: 'How the process ends.' },
    ),
    logging: Type.Object(
      {
        level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
          default: 'info',
          description: 'Least severe level that is logged.',
        }),
      },
      { ...section, description: 'What is logged.' },
    ),
    management,
    info,
    spring,
  },
  {
    ...closed,
    $id: 'https://stream-consumer.dev/schemas/application.schema.json',
    title: 'application.yml of stream-consumer',
  },
);

/** Settings after defaults were filled in: complete, and safe to read without further checks. */
export type Settings = Static<typeof SettingsSchema>;

/** How the consumer registers at Spring Boot Admin. */
export type AdminClientSettings = Settings['spring']['boot']['admin']['client'];
