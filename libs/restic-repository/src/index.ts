export * from './model/errors.js';
export * from './model/types.js';
export * from './reading/repository-file.js';
export * from './reading/restore-file.js';
export * from './repository.js';
export * from './retention/keep.js';
export * from './target/directory-target.js';
export * from './target/repository-target.js';
