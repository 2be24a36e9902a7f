export { __Name__Backend, type __Name__BackendOptions } from './__name__-backend.js';
export { __NAME___TRAITS } from './__name__-traits.js';
