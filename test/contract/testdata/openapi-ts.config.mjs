export default {
  input: 'openapi.yaml',
  output: 'generated',
  plugins: ['@hey-api/client-fetch', { name: '@hey-api/sdk', validator: 'zod' }, 'zod']
}
