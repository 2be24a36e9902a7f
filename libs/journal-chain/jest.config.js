export default { displayName: 'journal-chain', preset: '../../jest.preset.js' };
