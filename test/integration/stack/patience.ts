import { jest } from '@jest/globals';

/**
 * Longer than anything that a test waits for, even where several files share two cores: what is missing shows as the error of
 * that wait, which says what it was. A test that takes half a minute anywhere is a long one.
 */
jest.setTimeout(180_000);
