export { EmbeddedHomeserverModule } from './embedded-homeserver.module.js';
export { type EmbeddedOperation, embeddedOperations } from './embedded-operations.js';
export { EmbeddedHomeserver } from './embedded-homeserver.js';
export { EmbeddedOptions } from './embedded-options.js';
export { PasswordHash } from './accounts/password-hash.js';
