/** JSON bodies of clients: more than any event or set of keys takes. */
export const DEFAULT_JSON_LIMIT_BYTES = 1024 * 1024;

/** Key uploads of one device. */
export const KEYS_LIMIT_BYTES = 4 * 1024 * 1024;

/** 50 MiB: a body of exactly this length is accepted. */
export const UPLOAD_LIMIT_BYTES = 52_428_800;

export const MAX_PDUS = 50;
export const MAX_TRANSACTION_ID_BYTES = 255;
/** More than 50 events of 64 KiB and 100 EDUs take. */
export const TRANSACTION_LIMIT_BYTES = 13_107_200;
