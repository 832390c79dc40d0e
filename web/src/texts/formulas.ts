// Formulas belong to no language. Row vectors and a key-first state, as in the core: a read is k S, a write adds k'v.
export const pageFormulas = {
  kept: String.raw`S_t=\textstyle\sum_{i\le t} k_i^{\top} v_i`,
  rewritten: String.raw`S\leftarrow\alpha S+\beta\,k^{\top}(v-\alpha\,kS)`,
  cost: String.raw`N\,(K+V)\;\gg\;KV+K`,
};

export const claimFormulas = {
  LM01: String.raw`N\,(K+V)\cdot 4\,\mathrm{B}=32\,\mathrm{MiB}`,
  LM02: String.raw`(KV+K)\cdot 4\,\mathrm{B}=16640\,\mathrm{B}`,
  LM03: String.raw`\frac{\sum_{i\le t}\phi(q_t)\phi(k_i)^{\top}v_i}{\sum_{i\le t}\phi(q_t)\phi(k_i)^{\top}+\varepsilon}=\frac{\phi(q_t)S_t}{\phi(q_t)z_t+\varepsilon}`,
  LM04: String.raw`\max\lvert o^{\,\phi}-o^{\,\exp}\rvert=0.9214\ldots`,
  LM05: String.raw`\min o,\;\max o,\;o_0,\;o_1`,
  LM06: String.raw`o:[8,3],\quad S:[4,3],\quad z:[4]`,
  LM07: String.raw`v_7\to v_7+100:\quad \Delta o_t=0,\;t<7`,
  LM08: String.raw`\tfrac12(v_1+v_2)=[0.5,0.5],\quad kS=v_2=[0,1]`,
  LM09: String.raw`k_1S_2=[\,1-\rho^2,\;\rho\,],\quad \rho=k_1k_2^{\top}`,
  LM10: String.raw`e_2S=\alpha\,e_2=[0,\,0.8]`,
  LM11: String.raw`kS_2=[\,\beta(1-\beta),\;\beta\,]=[0.25,\,0.5]`,
  LM12: String.raw`\alpha=1:\quad e_2S=[0,\,1]`,
  LM13: String.raw`0<\max\lvert o^{\,\mathrm{explicit}}_{32}-o^{\,\mathrm{recurrent}}_{32}\rvert<10^{-5}`,
  LM14: String.raw`o_t\propto\phi(q_t)S_{t-1}\;\Rightarrow\; o_0=0`,
  LM15: String.raw`kS_t=(1-\beta\lVert k\rVert^2)\,kS_{t-1}+\beta\lVert k\rVert^2v`,
  LM16: String.raw`hS_t-hS_{t-1}=\beta\,(hk^{\top})(v-kS_{t-1})`,
  LM17: String.raw`S_t=\alpha\,(I-\beta k^{\top}k)\,S_{t-1}+\beta k^{\top}v`,
  LM18: String.raw`M=S^{\top}:\quad M_t=\alpha M_{t-1}(I-\beta k^{\top}k)+\beta v^{\top}k`,
  LM19: String.raw`\nabla_S\,\tfrac12\lVert kS-v\rVert^2=k^{\top}(kS-v)`,
  LM20: String.raw`\textstyle\sum_i w_i=d/(d+\varepsilon),\quad d=\phi(q_t)z_t`,
  LM21: String.raw`S\leftarrow 0`,
  LM22: String.raw`S=\textstyle\sum_{i<N}\phi(k_i)^{\top}v_i:\quad \Delta v_{N-1}\Rightarrow\Delta o_0\ne 0`,
  LM23: String.raw`x_{r+1}=f_\theta(x_r),\;r<R:\quad \lvert\theta\rvert\times 1,\;\mathrm{ops}\times R`,
  LM24: String.raw`S=\textstyle\sum_{i:\,m_i=1}\phi(k_i)^{\top}v_i`,
  RM13: String.raw`p_1+\dots+p_n\ge 1-\varepsilon:\quad w_r=p_r,\;r<n;\quad w_n=1-\textstyle\sum_{r<n}p_r`,
};
