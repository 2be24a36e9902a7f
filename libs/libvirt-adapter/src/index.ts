export * from './adapter-log.js';
export * from './libvirt-backend.js';
