export * from './build-plugin.js';
export * from './fake-podman.js';
