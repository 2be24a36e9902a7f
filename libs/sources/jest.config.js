export default { displayName: 'sources', preset: '../../jest.preset.js' };
