export { __Name__ } from './__name__.js';
