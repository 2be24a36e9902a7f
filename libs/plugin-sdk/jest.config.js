export default { displayName: 'plugin-sdk', preset: '../../jest.preset.js' };
