#version 120
//@ uA 2.0 0.02 0.3 0.0
// The Black-Scholes price of a call and of a put.
varying vec2 v;

uniform vec4 uA;
float normal(float x)
{
   float k = 1.0 / (1.0 + 0.2316419 * abs(x));
   float poly = ((((1.330274429 * k - 1.821255978) * k + 1.781477937) * k - 0.356563782) * k + 0.319381530) * k;
   float tail = 0.39894228 * exp(-0.5 * x * x) * poly;
   return x < 0.0 ? tail : 1.0 - tail;
}
void main()
{
   float price = 5.0 + v.x * 25.0, strike = 1.0 + v.y * 40.0, years = uA.x, rate = uA.y, spread = uA.z;
   float root = sqrt(years);
   float d1 = (log(price / strike) + (rate + 0.5 * spread * spread) * years) / (spread * root), d2 = d1 - spread * root;
   float discount = strike * exp(-rate * years);
   float call = price * normal(d1) - discount * normal(d2);
   gl_FragColor = vec4(call, call + discount - price, normal(d1), normal(d2));
}
