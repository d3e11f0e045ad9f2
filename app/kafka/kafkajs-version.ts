/** The version of kafkajs that the patches are made for, and the only one that is loaded. */
export const KAFKAJS_VERSION = '2.2.4';
