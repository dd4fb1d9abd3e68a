/** Signs requests to an S3-compatible store (AWS Signature Version 4). */
import { AwsV4Signer } from 'aws4fetch';
import type { AwsSettings } from '../config.js';
import type { SignRequest } from './http-place.js';

/** Makes the signer. @throws Error that names the variable of the environment that is missing. */
export function s3Signer(aws: AwsSettings): SignRequest {
  const { accessKeyId, secretAccessKey, sessionToken, region } = aws;
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new Error('SITUS_DATASETS names a store of S3: AWS_ACCESS_KEY_ID and '
      + 'AWS_SECRET_ACCESS_KEY have to be set');
  }
  return async ({ method, url, headers, sum }) => {
    const signed = await new AwsV4Signer({
      method, url, accessKeyId, secretAccessKey, region, service: 's3',
      headers: { ...headers, 'X-Amz-Content-Sha256': sum },
      ...(sessionToken === '' ? {} : { sessionToken }),
    }).sign();
    return Object.fromEntries(signed.headers);
  };
}
