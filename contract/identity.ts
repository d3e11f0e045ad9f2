/**
 * The product's name: npm package, image repository's default last segment, and the default `application` label of
 * every series.
 */
export const PRODUCT_NAME = 'stream-consumer';

/** The group it belongs to among artifacts, as Maven would name it: `/actuator/info` shows it as Spring Boot does. */
export const PRODUCT_GROUP = 'dev.stream-consumer';

/** License of the product, as SPDX identifier and as the page `/actuator/info` links to. */
export const LICENSE = { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' } as const;
