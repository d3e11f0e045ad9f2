// Written by npm run generate out of consumer.yaml's schema; never edited.

/** HTTPS for the operational interface; the files are read again when they change. Left out: HTTP. */
export interface ApplicationServerSslProps {
  /** PEM file with the certificate, followed by those of its intermediate authorities. */
  readonly certificate: string;

  /** PEM file with the certificate's private key, not encrypted. */
  readonly 'certificate-private-key': string;
}
