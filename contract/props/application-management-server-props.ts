// Written by npm run generate out of consumer.yaml's schema; never edited.

/** `application.management.server` of consumer.yaml. */
export interface ApplicationManagementServerProps {
  /**
   * Port of the operational HTTP interface instead of server.port, where nothing listens then. Left out: server.port.
   *
   * Allowed: 0 to 65535.
   *
   * @default - server.port
   */
  readonly port?: number;

  /**
   * Address the HTTP interface listens on instead of server.address. Left out: server.address.
   *
   * @default - server.address
   */
  readonly address?: string;
}
