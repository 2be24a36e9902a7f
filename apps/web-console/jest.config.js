export default { displayName: 'web-console', preset: '../../jest.preset.js' };
