/** JSON bodies of clients: more than any event or set of keys takes. */
export const DEFAULT_JSON_LIMIT_BYTES = 1024 * 1024;

/**
 * Values in a body that is parsed: more than any event or filter of a client has, and few enough not to block the
 * process.
 */
export const MAX_JSON_VALUES = 10_000;
/** The same for key uploads: the keys of the cap have five values each. */
export const MAX_KEYS_VALUES = 20_000;
/** The same for bodies with a few members, such as those of logins. */
export const MAX_SMALL_JSON_VALUES = 1_000;

/** Key uploads of one device. */
export const KEYS_LIMIT_BYTES = 4 * 1024 * 1024;

/** 50 MiB: a body of exactly this length is accepted. */
export const UPLOAD_LIMIT_BYTES = 52_428_800;

export const MAX_PDUS = 50;
export const MAX_TRANSACTION_ID_BYTES = 255;
/** More than 50 events of 64 KiB and 100 EDUs take. */
export const TRANSACTION_LIMIT_BYTES = 13_107_200;
