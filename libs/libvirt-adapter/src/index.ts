export * from './libvirt-backend.js';
