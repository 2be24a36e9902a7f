export default { displayName: 'vm-service', preset: '../../jest.preset.js' };
