export default { displayName: 'api-contracts', preset: '../../jest.preset.js' };
