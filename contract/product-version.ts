// Written by npm run generate out of package.json; never edited.

/** Version of the package: `app.kubernetes.io/version`, and the image's tag unless another is asked for. */
export const PRODUCT_VERSION = '0.2.0';

/** Address of the repository, which pages, alerts and the log link to. */
export const REPOSITORY_URL = 'https://github.com/stream-consumer/stream-consumer';
