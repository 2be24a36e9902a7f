export default { displayName: 'registry-store', preset: '../../jest.preset.js' };
