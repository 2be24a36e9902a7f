export default { displayName: 'limit-rules', preset: '../../jest.preset.js' };
