import { Type } from 'typebox';
import { section } from './section.ts';

const part = (description: string) =>
  Type.Object(
    { enabled: Type.Boolean({ default: false, description }) },
    { ...section, description: 'An optional part of /actuator/info.' },
  );

/** Which optional parts `/actuator/info` has. */
export const managementInfo = Type.Object(
  {
    os: part('Whether /actuator/info names the operating system.'),
    process: part('Whether /actuator/info tells of the process: its number, owner, processors and memory.'),
  },
  { ...section, description: 'Which optional parts /actuator/info has.' },
);
