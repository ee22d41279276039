"""Expressions that a page must read as Python does, on x (2, 3, 4), y (3, 4), v (4) and whole numbers k (2, 3)."""

OF_TENSORS = r"""
x.mean()
x.sum(0)
x.sum((0,2))
x.sum(dim=(-1,),keepdim=True)
x.var()
x.var(-1)
x.var(-1,False)
x.var(dim=1,unbiased=False,keepdim=True)
x.std(0)
x.std(dim=-1,correction=0)
x.max()
x.max(-1)[0]
x.max(dim=1,keepdim=True).values
x.max(-1).indices
x.amax((0,1))
x.argmax()
x.argmax(-1)
x.argmax(dim=1,keepdim=True)
x.min(1)[1]
x.softmax(1)
x.log_softmax(-1)
F.softmax(x,dim=0)
torch.softmax(x,-1)
x.logsumexp(-1)
x.logsumexp(dim=1,keepdim=True)
x.cumsum(1)
x.flip(0,2)
x.flip([1])
x.sort(-1)[0]
x.sort(-1,descending=True).indices
x.topk(2)[0]
x.topk(2,dim=1).indices
x.argsort(1)
x.transpose(0,2)
x.mT
x.permute(2,0,1)
x.permute(-1,0,1)
x.swapaxes(1,2)
x.reshape(6,4)
x.reshape(-1)
x.view(2,-1)
x.transpose(0,1).reshape(2,12)
x.transpose(0,1).view(2,12)
x.transpose(1,2).view(2,12)
x.transpose(1,2).contiguous().view(2,12)
x.view(2,2,3,2)
x.view(2,2,6)
x.view(4,3,2).transpose(0,1)
x.view(2,6,2).transpose(1,2)
x.transpose(0,1).view(3,2,2,2)
x.transpose(0,1).view(3,4,2)
x.transpose(1,2).view(2,2,2,3)
x[:,:2].view(2,8)
x[:,:2].view(16)
x.expand(2,2,3,4).view(2,24)
x.permute(0,2,1).flatten(1)
x.flatten()
x.flatten(0,1)
x.flatten(1)
x.unflatten(2,(2,2))
x.unflatten(-1,(-1,2))
x.unsqueeze(0)
x.unsqueeze(-1)
x[:1].squeeze()
x[:1].squeeze(0)
x.squeeze(1)
x[None]
x[:,None]
x[...,None]
x[0]
x[-1,1]
x[0,:,1]
x[...,0]
x[...,::2]
x[:,1:]
x[:,-2:]
x[:,:-1]
x[1,...,2]
x[:,:,[0,2]]
x[:,[1,0]]
y[k]
y[k[0]]
x[x>0]
y[y>0]
x[0][y>0]
x[5]
x[::-1]
x.expand(3,2,3,4)
v.expand(2,4)
v.expand(2,-1)
v.expand_as(y)
v.repeat(2)
v.repeat(2,3)
v.repeat_interleave(2)
y.repeat_interleave(2,dim=1)
x.chunk(2,dim=-1)[1]
x.chunk(3,1)[2]
x.split(2,dim=2)[1]
x.split([1,3],dim=-1)[1]
x.unbind(1)[2]
torch.stack([v,v*2])
torch.stack([v,v],-1)
torch.cat([y,y])
torch.cat([y,y],dim=1)
torch.cat((x,x),-1)
x@y.T
x@v
v@v
y@v
v@x.mT
x@x
x.mT@x
torch.matmul(x,y.T)
torch.bmm(x,x.mT)
torch.einsum('bqd,kd->bqk',x,y)
torch.einsum('...d,d',x,v)
torch.einsum('ij,jk',y,y.T)
torch.einsum('ij->ji',y)
torch.einsum('ij,ij->',y,y)
torch.einsum('ii->i',y@y.T)
torch.einsum('bij,bkj->bik',x,x)
torch.outer(v,v)
torch.dot(v,v)
torch.mm(y,y.T)
x+y
x-v
x*2
2-x
1/x
x/0
x//2
x%2
x**2
x.abs()**0.5
2**v
-x
+x
x>0
x>=y
(x>0)&(y>0)
(x>0)|(y>0)
~(x>0)
(x>0).sum()
(x>0).float().mean()
(x>0).any()
(x>0).all(-1)
k/2
k//2
k*2.5
k**2
k%2
-k
k>1
k.float()
k.sum()
k.float().mean()
k.mean()
k==1
k!=1
~k
k*(k>0)
(k>0)*2
True+k
x.clamp(min=0)
x.clamp(-1,1)
x.relu()
x.sigmoid()
x.tanh()
x.exp()
x.abs().sqrt()
x.abs().rsqrt()
x.square()
x.round()
x.trunc()
F.silu(x)
F.gelu(x)
F.gelu(x,approximate='tanh')
F.relu(x)
F.elu(x)
F.softplus(x)
F.leaky_relu(x)
F.mish(x)
F.normalize(x)
F.normalize(x,dim=-1)
F.normalize(x,p=1,dim=1)
F.layer_norm(x,(4,))
F.layer_norm(x,(3,4))
F.layer_norm(x,x.shape[-1:],v,v,0.1)
F.rms_norm(x,(4,))
F.rms_norm(x,(4,),v,1e-3)
F.linear(x,y)
F.linear(x,y,torch.ones(3).double())
F.pad(x,(1,0))
F.pad(x,(0,0,1,2),value=3.0)
F.one_hot(k)
F.one_hot(k,5)
F.scaled_dot_product_attention(x,x,x)
F.scaled_dot_product_attention(x,x,x,is_causal=True)
F.scaled_dot_product_attention(x,x,x,attn_mask=torch.ones(3,3).tril()==1,scale=1.0)
torch.zeros(2,3)
torch.ones(3)
torch.zeros((2,2),dtype=torch.bool)
torch.full((2,2),7)
torch.full((2,2),0.5)
torch.eye(3)
torch.arange(4)
torch.arange(1,4)
torch.arange(0,1,0.25)
torch.arange(4.0)
torch.arange(0,6,2,dtype=torch.float64)
torch.tensor([1,2])
torch.tensor([[1.0,2],[3,4]])
torch.tensor([True,False])
torch.tensor(2.5)
torch.zeros_like(x)
torch.ones_like(k)
torch.full_like(x,2)
torch.tril(y)
y.tril(1)
x.triu(-1)
torch.triu(torch.ones(3,3),diagonal=1)
torch.where(x>0,x,0)
torch.where(x>0,1.0,-1.0)
torch.where(y>0,y,v)
x.masked_fill(x>0,0)
x.masked_fill(y>0,float('-inf'))
torch.maximum(x,y)
torch.cdist(y,y)
x.norm()
x.norm(dim=-1)
x.norm(dim=-1,keepdim=True)
x.norm(p=1,dim=0)
torch.linalg.norm(v)
torch.linalg.vector_norm(x,dim=-1)
x.shape[0]
len(x)
x.dim()
x.ndim
x.size(-1)
x.numel()
x.T
y.t()
y.T
sum(v)
max(v)
sum([1,2,3])
max(3,2.5)
7//2
-7//2
-7%3
7/2
2**-1
2**0.5
10%3.5
abs(-3)
round(2.5)
int(3.7)
math.sqrt(2)
math.exp(1)
math.sqrt(v[0]**2)
(1,2)[1]
[1,2,3][-1]
[1,2,3][::2][1]
len([1]*3)
3 if 2>1 else 4
1<2<3
not 1
1 and 2
0 or 5
x.max(0)
x.mean(keepdim=True)
x.sum(5)
x.var(-1,0)
x.view(5)
x+torch.ones(5)
x.transpose(0)
x.softmax()
x.mean(-1,True)
x.sum(axis=-1,keepdims=True)
x.mean(axis=0)
torch.sum(x,-1)
torch.mean(x,dim=0,keepdim=True)
torch.exp(2.0)
torch.sqrt(2)
x.masked_fill(0,1)
torch.cat([x,y])
torch.stack([x,y])
x[0,0,0,0]
x.reshape(5,5)
x.expand(2,3,5)
v.view(2,2).T.view(4)
(x>0)-(y>0)
-(x>0)
x.long()
x.int()
(x>0).long()
x.bool()
x.double()
x.to(torch.int64)
k.to(x.dtype)
x.type_as(k)
x.new_zeros(2)
x.tolist()[0][0][0]
v[0].item()
x.any()
x.prod(-1)
x.cumprod(0)
x.neg()
x.add(1)
x.mul(y)
x.div(2)
x.sub(y)
x.pow(2)
x.matmul(y.T)
x.eq(0)
x.gt(0)
nn.Softmax(dim=-1)(x)
nn.functional.relu(x)
torch.nn.functional.softmax(x,dim=-1)
x.sum(dim=[0,1])
x.amax(dim=(1,2),keepdim=True)
x.logsumexp((1,2))
x[:,[0,2],[1,3]]
x[[0,1],:,[1,3]]
x[0,:,torch.tensor([1,3])]
x[torch.tensor([[0],[1]]),torch.tensor([0,2])]
x[:,torch.tensor([True,False,True]),torch.tensor([1,3])]
x[:,y>0]
x[x[:,:,0]>0,1]
x[:,[]]
x[slice(1),slice(None,2)]
x.diagonal()
x.diagonal(1,-2,-1)
x.diagonal(offset=-1,dim1=2,dim2=1)
torch.diag(v)
torch.diag(v,-1)
y.diag(1)
y.gather(1,k[:,:2])
y.gather(0,k)
x.index_select(1,torch.tensor([2,0]))
x.index_fill(1,torch.tensor([1]),5)
x.roll(1,1)
x.roll((1,-2),(0,2))
y.roll(5)
torch.vstack((y,v))
torch.hstack([y,y])
torch.hstack((v,v))
y.isfinite()
torch.isinf(y/0)
(y/0).nan_to_num(1.0,2.0,-2.0)
(y>0).logical_not()
(y>0).logical_and(y<1)
k.bitwise_and(1)
k<<2
k>>1
5>>1
1<<k
torch.div(y,v,rounding_mode="floor")
y.div(v,rounding_mode="trunc")
torch.remainder(y,v)
torch.addcmul(y,y,v,value=2)
torch.logaddexp(y,v)
torch.linspace(0,1,5,dtype=torch.float64)
torch.logspace(0,-2,4,dtype=torch.float64)
torch.kron(y,y[:2])
torch.block_diag(y,y.T)
torch.matrix_exp(y@y.T)
torch.matrix_exp(x@x.mT)
x.unfold(1,2,1)
v.unfold(0,2,2)
v.as_strided((2,2),(1,1))
v.as_strided((2,2),(9,1))
torch.polar(v,y)
torch.polar(v,v)
torch.complex(y,y)*2
torch.view_as_real(torch.complex(y,y)*(1+2j)/(3-1j))
torch.view_as_complex(y.reshape(3,2,2))
torch.complex(y,y).real
torch.complex(y,y).exp().imag
torch.complex(v,v)<v
-torch.complex(v,v)-1j
divmod(7,2)
x.view_as(x.flatten())
torch.finfo(x.dtype).max
F.scaled_dot_product_attention(x[:,None],x[:1,None],x[:1,None],enable_gqa=True)
math.log10(100)
"""

OF_ARRAYS = r"""
x.max()
x.max(axis=-1)
x.max(axis=-1, keepdims=True)
x.max(-1)
np.max(x, axis=1)
np.amax(x, -1, keepdims=True)
x.min(0)
x.sum()
x.sum(0)
x.sum(axis=(0, 2))
np.sum(x, axis=-1, keepdims=True)
np.sum(x, 1)
x.mean(-1)
np.mean(x, axis=0)
x.var()
x.var(axis=-1, ddof=1)
x.std(-1)
np.std(x, axis=-1, keepdims=True)
x.argmax()
x.argmax(axis=-1)
x.cumsum()
x.cumsum(axis=1)
np.cumsum(x, 0)
np.exp(x)
np.log(np.abs(x))
np.sqrt(abs(x))
np.tanh(x)
np.square(x)
np.maximum(x, 0)
np.minimum(x, y)
np.clip(x, -1, 1)
x.clip(0, 1)
np.where(x > 0, x, 0)
np.where(y > 0, y, v)
np.power(v, 2)
np.exp(1)
np.sqrt(4)
x.T
y.T
x.transpose(1, 0, 2)
x.transpose(0, 2, 1)
np.transpose(y)
x.swapaxes(0, 1)
np.swapaxes(x, 1, 2)
x.reshape(6, 4)
x.reshape(-1)
x.reshape((2, -1))
x.ravel()
x.flatten()
np.expand_dims(x, 1)
x[None]
x[..., np.newaxis]
x[:, None]
x[0]
x[-1, 1]
x[..., ::2]
x[..., ::-1]
x[:, 1:]
y[k]
y[[0, 2]]
x[x > 0]
np.concatenate([y, y])
np.concatenate([y, y], axis=1)
np.stack([v, v], -1)
y @ y.T
x @ v
v @ v
x @ x
np.matmul(x, y.T)
np.dot(v, v)
np.dot(y, y.T)
y.dot(v)
np.inner(y, y)
np.outer(v, v)
np.einsum("ij,kj->ik", y, y)
np.einsum("...d,d->...", x, v)
np.zeros((2, 3))
np.zeros(3)
np.ones((2,), dtype=bool)
np.eye(3)
np.tri(3)
np.tri(3, k=-1)
np.tril(y)
np.triu(y, 1)
np.arange(4)
np.arange(1, 3, 0.5)
np.full((2, 2), 7)
np.array([[1, 2], [3, 4.0]])
np.array([x[0, 0], v])
np.zeros_like(x)
np.zeros_like(k)
np.ones_like(k)
x + y
x - v
1 / x
x / 0
x // 2
x % 2
x**2
2**v
k / 2
k // 2
k % 2
k**2
k > 1
(x > 0) & (y > 0)
~(x > 0)
(x > 0).sum()
(x > 0).mean()
k.mean()
x.any()
(x > 0).all(axis=-1)
x.astype(int)
k.astype(float)
(x > 0).astype(int)
x.round(2)
np.round(x, 1)
x.shape
x.ndim
x.size
len(x)
sum(v)
max(v)
min(v)
[row.sum() for row in y]
np.array([row / row.sum() for row in y])
np.apply_along_axis(lambda row: row / row.sum(), -1, x)
np.linalg.norm(v)
np.linalg.norm(y, axis=1, keepdims=True)
np.ptp(x, axis=-1)
np.sort(x)
np.sort(x, axis=0)
np.moveaxis(x, 0, -1)
np.split(x, 2, axis=2)[1]
np.nan_to_num(x / 0 * 0)
np.logaddexp.reduce(x, axis=-1)
x.sum(dim=-1)
x.exp()
x @ y
x + v[:3]
x.reshape(5, 5)
x[2]
x.max(axis=3)
torch.exp(x)
x.softmax(-1)
torch.from_numpy(x).softmax(-1).numpy()
torch.softmax(torch.tensor(x), dim=-1)
x.item()
v.tolist()
float(v[0])
int(k[0, 0])
math.exp(v)
math.exp(v[0])
x[:,[0,2],[1,3]]
x[[0,1],:,[1,3]]
x[0,:,[1,3]]
x[:,np.array([True,False,True]),1]
x[:,y>0]
np.diag(v,1)
np.diag(y,-1)
x.diagonal(0,1,2)
np.vstack([y,v])
np.hstack([v,v])
np.isfinite(y)
np.linspace(0,1,5)
np.logspace(0,-2,4)
np.kron(y,y[:2])
np.lexsort((v,np.array([1,0,1,0])))
np.lib.stride_tricks.sliding_window_view(v,2)
(y+1j*y)*2
np.exp(1j*y).real
(y-1j).imag
((2+1j)**2*y).imag
k>>1
k<<k
~k
"""
