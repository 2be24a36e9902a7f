export default { displayName: 'limits-redis', preset: '../../jest.preset.js' };
