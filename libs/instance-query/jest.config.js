export default { displayName: 'instance-query', preset: '../../jest.preset.js' };
