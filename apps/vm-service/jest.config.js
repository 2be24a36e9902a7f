export default {
  displayName: 'vm-service',
  preset: '../../jest.preset.js',
  // The longest of all unit tests. Nx runs applications last, when the other cores have nothing to do anymore.
  maxWorkers: 2,
};
