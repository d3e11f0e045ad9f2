import type { SettingPath } from '../../settings/document.ts';
import type { Problem } from '../../settings/problem.ts';

/** One setting as one source gives it. */
export interface SettingValue {
  /** Keys of the schema where it knows them; else as they were written. */
  readonly path: SettingPath;
  /** Converted to the type that the schema asks for where that was possible. */
  readonly value: unknown;
  /** Where it stands, for messages: `application.yml:3:9`, `environment variable SERVER_PORT`. */
  readonly source: string;
  /** The same for each item of a list, where the items have places of their own. */
  readonly itemSources?: readonly string[];
  /** What is wrong with it already; its value counts for nothing then. */
  readonly problems?: readonly Problem[];
}
