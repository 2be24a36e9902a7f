export default { displayName: 'messages', preset: '../../jest.preset.js' };
