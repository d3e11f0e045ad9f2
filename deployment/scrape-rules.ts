import type { Rule } from '../settings/check.ts';
import type { ConsumerFile } from './consumer-file.ts';

const annotationsShowNoCredential: Rule<ConsumerFile> = {
  reads: ['monitoring'],
  find: ({ monitoring: { scrape, credentials } }) =>
    scrape === 'annotations' && credentials !== undefined
      ? [
          {
            path: 'monitoring.scrape',
            message: 'has no way to show the credential that monitoring.credentials asks for',
            given: scrape,
            allowed: 'serviceMonitor, podMonitor or scrapeConfig; or none, and a scrape job of your own',
          },
        ]
      : [],
};

/** What the ways of scraping can and cannot do. */
export const SCRAPE_RULES: readonly Rule<ConsumerFile>[] = [annotationsShowNoCredential];
