// Written by npm run generate out of consumer.yaml's schema; never edited.
import type { ApplicationServerSslProps } from './application-server-ssl-props.ts';

/** Where the operational interface listens. */
export interface ApplicationServerProps {
  /**
   * Port of the operational HTTP interface; 0 takes any free one and logs it.
   *
   * Allowed: 0 to 65535.
   *
   * @default 8080
   */
  readonly port?: number;

  /**
   * Address the HTTP interface listens on.
   *
   * @default '0.0.0.0'
   */
  readonly address?: string;

  /**
   * HTTPS for the operational interface; the files are read again when they change. Left out: HTTP.
   *
   * @default - HTTP
   */
  readonly ssl?: ApplicationServerSslProps;
}
