export default { displayName: 'instances', preset: '../../jest.preset.js' };
