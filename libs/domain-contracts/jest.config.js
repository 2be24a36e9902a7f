export default { displayName: 'domain-contracts', preset: '../../jest.preset.js' };
