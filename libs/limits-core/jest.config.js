export default { displayName: 'limits-core', preset: '../../jest.preset.js' };
